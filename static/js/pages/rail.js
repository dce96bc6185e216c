// On a phone the places of a study or a benchmark stand in a line that scrolls, and so do the pages within the open one:
// what is open is in view.

for (const open of document.querySelectorAll(".rail .go[aria-current], .sub-places [aria-current]")) {
  open.scrollIntoView({ inline: "center", block: "nearest" });
}
