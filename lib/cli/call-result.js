"use strict";

const { escaped } = require("./terminal.js");

/**
 * Prints the result of a call: what succeeded on standard output, what failed on standard error. On a
 * terminal, what progress has shown already is left out.
 */
function printResult(result, { out, err }, progress) {
  const { content, isError, display } = result;
  if (isError) {
    printFailure(result, err, progress);
    return;
  }
  const isSeen = out.isTerminal && err.isTerminal;
  if (isSeen && progress?.isInLine) err.line();
  for (const block of content) {
    const text = textOf(block);
    const shown = isSeen ? (progress?.unseen(text) ?? text) : text;
    if (shown === "" && isSeen) continue;
    out.write(withLineEnd(out.isTerminal ? escaped(shown) : shown));
  }
  // What an edit changed is shown to people alone.
  if (out.isTerminal && display?.startsWith("--- ")) out.line(out.diff(escaped(display.trimEnd())));
}

/** A text that ends with a line needs no further end, so that a file is printed as it is. */
function withLineEnd(text) {
  return text.endsWith("\n") ? text : `${text}\n`;
}

function printFailure({ content, error, display }, err, progress) {
  if (progress?.isInLine) err.line();
  // A command that failed has printed something before; other tools give the error alone.
  const output = content.map(textOf).join("\n");
  const rest = progress?.unseen(output) ?? output;
  if (!output.includes(error.message) && rest !== "") err.line(escaped(rest));
  // This is for a person, so a refusal is shown with the way to allow the call.
  const why = error.details ? display : error.message;
  err.line(`${err.styled("red", `${error.type}:`)} ${escaped(why ?? error.message)}`);
  const rules = error.details?.suggestedRules ?? [];
  if (rules.length > 0) err.line(escaped(`here: ${rules.map(allowing).join(" ")}`));
}

/** The option that allows a refused call, quoted for a shell. */
function allowing(rule) {
  return `--allow '${rule.replaceAll("'", `'\\''`)}'`;
}

function textOf(block) {
  if (block.type === "text") return block.text;
  if (block.type === "resource" && block.resource.text !== undefined) return block.resource.text;
  if (block.type === "resource_link") return block.uri;
  const data = block.data ?? block.resource?.blob ?? "";
  const kind = block.mimeType ?? block.resource?.mimeType ?? block.type;
  return `[${kind}, ${Math.floor((data.length * 3) / 4)} bytes; --output json prints them in base64]`;
}

module.exports = { allowing, printResult };
