// On a phone the places of a study or a benchmark stand in one line that scrolls: the one that is open is in view.

[...document.querySelectorAll(".rail [aria-current]")].at(-1)?.scrollIntoView({ inline: "center", block: "nearest" });
