import { describe, expect, test } from "vitest";
import { errorTypes, toolSpecs } from "../../native/binding.js";

interface Spec {
  set: string;
  name: string;
}

// The types of structured answers are in lib/generated/tool-outputs.d.ts.
const specs = JSON.parse(toolSpecs(), (key, value: unknown) =>
  key === "outputSchema" ? undefined : value,
) as Spec[];

// These texts decide how well a model uses a tool, so that every change has to be seen in review.
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
