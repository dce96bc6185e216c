// On a phone the places of a study stand in one line that scrolls: the one that is open is in view.

document.querySelector(".rail [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
