// The keys of questions with more options than there are keys (data-long): the arrow keys go through all of them, Space or
// Enter chooses the one that has the focus, and / goes to the field that finds words among them. A script of its own, so
// that keys.js can import it: scripts that import each other in a circle cannot be named after their content.

// As the page is read: Arabic goes on to the left.
export const [BACKWARD, FORWARD] = document.dir === "rtl" ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];

const OPTION = "label > input:is([type=radio], [type=checkbox])";
export const listed = (asked) => [...asked.querySelectorAll(OPTION)].filter((one) => one.checkVisibility());

// Whether the key was for the options of this question; null where an arrow goes on to the question above or below.
export function optionKey(event, asked, alone) {
  if (!asked?.matches("[data-long]") || asked.closest(".zoomed")) return false;
  const own = '[data-keys~="/"]'; // an option that looks like the key has it
  const field = asked.querySelector(".find input");
  if (event.key === "/" && field && !asked.querySelector(own)) return field.focus(), true;
  const options = listed(asked);
  const at = options.indexOf(document.activeElement);
  if (event.key === "Enter" && at >= 0 && !options[at].checked) return options[at].click(), true;
  // Left and right look back unless an option has the focus; there the browser would choose what they come to.
  const by = { ArrowUp: -1, ArrowDown: 1, ...(at < 0 ? {} : { [BACKWARD]: -1, [FORWARD]: 1 }) }[event.key];
  if (!by || !options.length) return false;
  const next = at < 0 && by < 0 ? options.length - 1 : at + by;
  if (!alone && !options[next]) return null;
  const there = options[(next + options.length) % options.length];
  there.focus();
  there.scrollIntoView({ block: "nearest" });
  return true;
}
