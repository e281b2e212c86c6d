// Django's own script gives these a label, yet no role that may have one.
const nameIcons = () => {
  for (const icon of document.querySelectorAll("span.help-tooltip[aria-label]")) {
    icon.setAttribute("role", "img");
  }
};

addEventListener("load", () => setTimeout(nameIcons));
