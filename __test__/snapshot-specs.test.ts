import { describe, expect, test } from "vitest";
import { errorTypes, toolSpecs } from "../native/binding.js";

interface Spec {
  set: string;
  name: string;
}

// What programs are told of the answers' data is in lib/generated/tool-outputs.d.ts.
const specs = (JSON.parse(toolSpecs()) as (Spec & { outputSchema: unknown })[]).map(
  ({ outputSchema: _outputSchema, ...spec }): Spec => spec,
);

// What a model is told decides how well it uses a tool: a change has to be seen in review.
describe("the words and schemas that models see", () => {
  test.each(specs)("$set: $name is what it was", (spec) => {
    expect(spec).toMatchSnapshot();
  });

  test("no tool appears or goes unnoticed", () => {
    expect(specs.map(({ set, name }) => `${set}/${name}`)).toMatchSnapshot();
  });

  test("the error types that hosts branch on are what they were", () => {
    expect(errorTypes()).toMatchSnapshot();
  });
});
