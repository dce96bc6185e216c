// Words for the annotator: in sight for a moment, and read out by a screen reader (`quietly`: read out alone).

const line = document.getElementById("say");
let timer = 0;

export function say(text, quietly = false) {
  clearTimeout(timer);
  line.classList.toggle("quietly", quietly);
  line.textContent = text;
  timer = setTimeout(() => (line.textContent = ""), 7000);
}
