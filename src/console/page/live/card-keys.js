/** Arrow keys among the cards of the wall, which stand in rows. */

/**
 * The card to which a key leads from the one that has the focus; null = the key means nothing here.
 * @param {HTMLElement} wall @param {KeyboardEvent} event @returns {HTMLElement | null}
 */
export function moveAmong(wall, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const from = event.target instanceof Element ? event.target.closest('.card') : null;
  if (!(from instanceof HTMLElement)) return null;
  const cards = /** @type {HTMLElement[]} */ ([...wall.children]).filter((card) => !card.hidden);
  const at = cards.indexOf(from);
  if (at < 0) return null;
  const columns = countColumns(cards);
  switch (event.key) {
    case 'ArrowLeft':
      return cards[Math.max(0, at - 1)] ?? null;
    case 'ArrowRight':
      return cards[Math.min(cards.length - 1, at + 1)] ?? null;
    case 'ArrowUp':
      return cards[at - columns] ?? cards[at] ?? null;
    case 'ArrowDown':
      return cards[at + columns] ?? cards.at(-1) ?? null;
    case 'Home':
      return cards[0] ?? null;
    case 'End':
      return cards.at(-1) ?? null;
    default:
      return null;
  }
}

/** @param {readonly HTMLElement[]} cards @returns {number} */
function countColumns(cards) {
  const [first] = cards;
  const below = cards.findIndex((card) => card.offsetTop > (first?.offsetTop ?? 0));
  return below < 0 ? cards.length : below;
}
