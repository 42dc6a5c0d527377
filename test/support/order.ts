import { statSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { buildRandom } from './random.ts'

/** What starts whole processes waits for them most of the time. */
const waits = /\/test\/(?:cli|console|daemon|deploy|faults|histories)\//

/** In bytes of its source. Files of this size may take a minute and more, smaller ones seldom take ten seconds. */
const largeFrom = 8_000

/**
 * What runs last keeps the machine busy to the end: small files, so that no long one is left over. Those that share a process come one after the other,
 * else it is given up.
 */
const countTurn = ({ project, moduleId }: TestSpecification): number => {
  if (project.config.isolate) return waits.test(moduleId) ? 0 : 1
  return statSync(moduleId).size >= largeFrom ? 2 : 3
}

/** The files in an arbitrary order, which `--sequence.seed` repeats: first what waits, then what has a process of its own, then large files, then small. */
export class Order extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const next = buildRandom(this.ctx.config.sequence.seed)
    const buildName = ({ project, moduleId }: TestSpecification): string => `${project.name} ${moduleId}`
    return [...files]
      .sort((one, other) => (buildName(one) < buildName(other) ? -1 : 1))
      .map((file) => ({ file, turn: countTurn(file), place: next() }))
      .sort((one, other) => one.turn - other.turn || one.place - other.place)
      .map(({ file }) => file)
  }
}
