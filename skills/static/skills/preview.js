// Shows the Markdown of a text area next to it, as rendered and sanitised by the server.
"use strict";

const PAUSE = 400;

function previewOf(area) {
  const shown = document.createElement("div");
  const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
  let waiting = null;

  async function show() {
    const body = new URLSearchParams({ content: area.value });
    const answer = await fetch(area.dataset.preview, {
      method: "POST",
      headers: { "X-CSRFToken": token },
      body,
    });
    shown.innerHTML = answer.ok ? await answer.text() : "The preview is not available.";
  }

  shown.className = "skill-preview";
  shown.tabIndex = 0; // so that the keyboard can scroll it
  shown.role = "region";
  shown.ariaLabel = "Preview";
  area.after(shown);
  area.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, PAUSE);
  });
  show();
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("textarea[data-preview]").forEach(previewOf);
});
