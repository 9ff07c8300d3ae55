// Runs before the first paint, so that a dark page does not flash in white.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch (refused) {
    chosen = null;
  }
  var dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen === "dark" || chosen === "light" ? chosen : dark ? "dark" : "light";
})();
