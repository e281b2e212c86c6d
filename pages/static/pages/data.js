// What REST framework's pages lack for screen readers: a language and a name for the format menu.
document.documentElement.lang = "en";
document.addEventListener("DOMContentLoaded", () => {
  const menu = document.querySelector(".format-selection .dropdown-toggle");
  menu?.setAttribute("aria-label", "Choose a format");
});
