import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { buildRandom } from './random.ts'

/** What starts whole processes waits for them most of the time. */
const waits = /\/test\/(?:cli|console|daemon|deploy|faults|histories)\//

/** What runs last keeps the machine busy to the end: small files. Those that share a process come one after the other, else it is given up. */
const countTurn = ({ project, moduleId }: TestSpecification): number =>
  project.config.isolate ? (waits.test(moduleId) ? 0 : 1) : 2

/** The files in an arbitrary order, which `--sequence.seed` repeats: first what waits, then what has a process of its own, then all others. */
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
