// The result of a call: first the display for people, below it the content for the model.

import { badge } from "./badge.js";
import { dataView } from "./data-view.js";
import { diffView, isDiff } from "./diff-view.js";
import { element } from "./element.js";
import { inline } from "./prose.js";
import { rulesToPaste } from "./rules-to-paste.js";
import { searchResults } from "./search-results.js";

/** The maximum text length that is shown: more than a person reads, and still fast to render. */
const MOST_CHARACTERS = 400_000;
const IMAGES = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;

/** The view of a whole result. */
export function resultView(result) {
  const { content = [], display, structuredContent, error } = result;
  const parts = [];
  if (error) parts.push(errorView(error));
  const shown = display ?? "";
  const isShownAsDiff = isDiff(shown);
  if (isShownAsDiff) parts.push(diffView(shown));
  const found = error ? undefined : searchResults(structuredContent);
  if (found) parts.push(found);
  const texts = content.map((block) => blockView(block)).filter(Boolean);
  if (isShownAsDiff || found) parts.push(folded("What the model was given", texts));
  else parts.push(...(error && content.length <= 1 && isRepeated(content, error) ? [] : texts));
  if (structuredContent !== undefined && !found) {
    parts.push(folded("Structured data", dataView(structuredContent, { open: true })));
  }
  return element("div", { class: "result" }, parts);
}

/** A text in a box that can be scrolled by keyboard. */
export function textBox(text, label = "Output") {
  if (isDiff(text)) return diffView(text);
  const shown = text.slice(0, MOST_CHARACTERS);
  const left = text.length - shown.length;
  return [
    element(
      "pre",
      { class: "text-box", tabindex: "0", role: "region", "aria-label": label },
      shown,
    ),
    left > 0 && element("p", { class: "note" }, `${left} more characters are not shown`),
  ];
}

function errorView({ type, message, details }) {
  return element(
    "div",
    { class: "notice tone-bad" },
    element("p", {}, badge(type, "bad"), " ", inline(message)),
    details && element("p", { class: "dim" }, inline(details.reason)),
    details && element("p", {}, "How to allow it: ", inline(details.howToAllow)),
    details?.suggestedRules?.length > 0 && rulesToPaste(details.suggestedRules),
  );
}

function isRepeated([block], { message }) {
  return block === undefined || (block.type === "text" && block.text === message);
}

function blockView(block) {
  if (block.type === "text") return block.text === "" ? undefined : textBox(block.text);
  if (block.type === "image" && IMAGES.test(block.mimeType)) return image(block);
  if (block.type === "resource_link") return textBox(`${block.name}: ${block.uri}`, "Resource");
  if (block.type === "resource" && block.resource.text !== undefined) {
    return [element("p", { class: "note" }, block.resource.uri), textBox(block.resource.text)];
  }
  return folded(
    `Content of the type ${block.type} (${block.mimeType ?? "unknown"})`,
    dataView(block),
  );
}

function image({ data, mimeType }) {
  return element(
    "figure",
    { class: "picture" },
    element("img", {
      src: `data:${mimeType};base64,${data}`,
      alt: `An image (${mimeType}) in the answer`,
    }),
  );
}

function folded(title, ...children) {
  return element("details", { class: "fold" }, element("summary", {}, title), ...children);
}
