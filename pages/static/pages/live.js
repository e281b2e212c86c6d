// Adds calls at the top of the table as they arrive; without it, the page shows the newest.
const MOST_ROWS = 200;
const table = document.getElementById("calls");
const rows = table.tBodies[0];
const state = document.getElementById("state");
const pause = document.getElementById("pause");
let last = table.dataset.last;
let source = null;

const listen = () => {
  const address = new URL(table.dataset.stream, location);
  address.searchParams.set("after", last);
  source = new EventSource(address);
  source.onopen = () => { state.textContent = "Live: new calls appear on top."; };
  source.onerror = () => {
    const isOver = source.readyState === EventSource.CLOSED;
    state.textContent = isOver ? "The server no longer reports calls; reload." : "Not connected; trying again.";
  };
  source.addEventListener("calls", (event) => {
    last = event.lastEventId;
    document.getElementById("none").hidden = true;
    rows.insertAdjacentHTML("afterbegin", event.data);
    while (rows.rows.length > MOST_ROWS) rows.deleteRow(-1);
  });
};

pause.addEventListener("click", () => {
  const isPaused = pause.getAttribute("aria-pressed") !== "true";
  pause.setAttribute("aria-pressed", isPaused);
  if (isPaused) {
    source.close();
    state.textContent = "Paused.";
  } else {
    listen();
  }
});

pause.hidden = false;
listen();
