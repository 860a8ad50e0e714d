// Creates elements. Strings are always inserted as text and never parsed as HTML, because the page shows
// content from files, commands and web pages.

/**
 * Creates an element with attributes and children. `on` contains listeners by event. `class` may be a list,
 * whose falsy items are skipped. Attributes and children that are `undefined`, `null` or `false` are skipped.
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "class") {
      node.className = [value].flat().filter(Boolean).join(" ");
    } else if (name === "value") {
      node.value = value;
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(node, children);
  return node;
}

/** Replaces everything in an element. */
export function fill(node, ...children) {
  node.replaceChildren();
  append(node, children);
  return node;
}

/** A button with a click listener. */
export function button(text, attributes, onClick) {
  return element("button", { type: "button", ...attributes, on: { click: onClick } }, text);
}

/**
 * Shows a list. Nodes of items that stay are kept, and with them the focus and typed text. `create` makes the
 * node of an item; `update` is called for an item that stays.
 */
export function fillByKey(container, items, { key, create, update = () => {} }) {
  const known = (container.nodesByKey ??= new Map());
  const wanted = new Map(items.map((item) => [key(item), item]));
  for (const [id, node] of known) {
    if (wanted.has(id)) continue;
    node.remove();
    known.delete(id);
  }
  let place = container.firstElementChild;
  for (const [id, item] of wanted) {
    const there = known.get(id);
    const node = there ?? create(item);
    if (there === undefined) known.set(id, node);
    else update(item, node);
    if (node === place) place = place.nextElementSibling;
    else container.insertBefore(node, place);
  }
}

function append(node, children) {
  for (const child of children.flat(3)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}
