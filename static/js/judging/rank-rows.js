// Things that are ranked on the screens of protocol files: rows with a list of ranks each, in the order of these. A row is
// dragged before another or, where ranks may be shared, onto it.

import { drags } from "./drag.js";

const rows = (list) => [...list.querySelectorAll(".row")];
const field = (row) => row.querySelector("select");
const rankOf = (row) => Number(field(row).value);
const shares = (row) => row.closest(".asked").matches("[data-ties]");

export function ranksReady(node) {
  for (const list of node.querySelectorAll(".rows")) {
    list.addEventListener("change", ({ target }) => target.matches("select") && apart(target.closest(".row")));
    drags(list, { what: (target) => (target.matches("select") ? null : target.closest(".row")), over() {}, drop });
    rows(list).forEach(remember);
  }
}

// In sight, the best comes first and what has no rank last.
export function ranksShow(node) {
  for (const row of node.querySelectorAll(".row")) {
    row.style.order = rankOf(row) || 99;
    remember(row);
  }
}

const remember = (row) => (row.dataset.rank = field(row).value);

// Gives the row that rank; whether there is such a rank.
export function rank(row, place) {
  if (![...field(row).options].some(({ value }) => value === place)) return false;
  set(row, place);
  return true;
}

function set(row, place) {
  field(row).value = place;
  field(row).dispatchEvent(new Event("change", { bubbles: true }));
}

// Where ranks are not shared, the row that had this one takes the other's.
function apart(row) {
  if (shares(row) || !rankOf(row)) return;
  const other = rows(row.parentElement).find((one) => one !== row && rankOf(one) === rankOf(row));
  if (other) field(other).value = row.dataset.rank;
}

// The others keep their order; ranks are given anew, from 1.
function drop(row, x, y) {
  const others = rows(row.parentElement).filter((one) => one !== row && rankOf(one));
  const used = [...new Set(others.map(rankOf))].sort((one, other) => one - other);
  const tiers = used.map((value) => others.filter((one) => rankOf(one) === value));
  place(tiers, row, y);
  for (const [index, tier] of tiers.entries()) for (const one of tier) field(one).value = index + 1;
  field(row).dispatchEvent(new Event("change", { bubbles: true }));
}

function place(tiers, row, y) {
  for (const [index, tier] of tiers.entries()) {
    const boxes = tier.map((one) => one.getBoundingClientRect());
    const top = Math.min(...boxes.map((box) => box.top));
    const bottom = Math.max(...boxes.map((box) => box.bottom));
    const edge = shares(row) ? boxes[0].height / 4 : (bottom - top) / 2;
    if (y < top + edge) return tiers.splice(index, 0, [row]);
    if (shares(row) && y < bottom - edge) return tier.push(row);
  }
  return tiers.push([row]);
}
