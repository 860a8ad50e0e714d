import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CallResult, type ToolRegistry, createToolRegistry } from "../support/unasked";
import { warm } from "../support/indexes.js";
import { Mutator } from "../support/mutator.js";
import { Random } from "../support/random.js";
import { type Question, someQuestion } from "../support/search-questions.js";
import { plantTree } from "../support/search-trees.js";
import { useWorkspace } from "../support/workspace.js";

// A longer run: TOOLWRIGHT_INDEX_CASES=5000 npx vitest run index-differential
const CASES = Number(process.env.TOOLWRIGHT_INDEX_CASES ?? 160);
const SEED = Number(process.env.TOOLWRIGHT_INDEX_SEED ?? Date.now() % 1_000_000);
const CASES_PER_TREE = 40;

const workspace = useWorkspace();

/** All parts of an answer except the reason why the index was not used. */
function said({ content, structuredContent, error }: CallResult) {
  const { notIndexed: _, ...data } = (structuredContent ?? {}) as Record<string, unknown>;
  return { content, data, error };
}

async function bothSay(warmed: ToolRegistry, cold: ToolRegistry, [tool, input]: Question) {
  const ours = await warmed.call(tool, input);
  const theirs = await cold.call(tool, input);
  return { ours: said(ours), theirs: said(theirs) };
}

describe.skipIf(process.platform !== "linux")("the same answers with and without an index", () => {
  test(`${CASES} searches while another process changes the tree, from seed ${SEED}`, async () => {
    const random = new Random(SEED);
    const used = { warm: 0, all: 0 };
    for (let done = 0; done < CASES;) {
      const root = join(workspace.root, `tree${done}`);
      const tree = plantTree(root, random);
      const options = { projectPath: root, toolsets: ["claude", "classic"] } as const;
      const warmed = createToolRegistry({ ...options, index: "on" });
      const cold = createToolRegistry({ ...options, index: "off" });
      const mutator = new Mutator(root);
      await warmed.initialize();
      // Half of the trees are searched while they are indexed.
      if (random.chance(0.5)) await warm(warmed);
      for (let count = 0; count < CASES_PER_TREE && done < CASES; count += 1, done += 1) {
        const seed = random.below(2 ** 31);
        const changing = mutator.change(seed, random.below(4));
        // A search during the changes may see the tree before or after any of them.
        if (random.chance(0.3)) await warmed.call(...someQuestion(random, tree));
        await changing;
        const question = someQuestion(random, tree);
        const { ours, theirs } = await bothSay(warmed, cold, question);
        // The input is part of the comparison, so that a failure shows it.
        expect({ case: done, question, ...ours }).toEqual({ case: done, question, ...theirs });
        used.all += 1;
        used.warm += warmed.indexStatus()[0]!.state === "cold" ? 0 : 1;
      }
      await mutator.end();
      await Promise.all([warmed.close(), cold.close()]);
    }
    // Without this the test would pass if no index were ever used.
    expect(used.warm).toBeGreaterThan(used.all / 2);
  });
});
