import type { Played } from './play.ts'
import { answers } from './stories/answers.ts'
import { processes } from './stories/processes.ts'
import { reads } from './stories/reads.ts'
import { returns } from './stories/returns.ts'
import type { Story } from './story.ts'

/** Every history that is kept by name. */
export const stories: readonly Story[] = [...answers, ...reads, ...processes, ...returns]

/** What is wrong with how a story went; empty when nothing is. */
export const listFaults = ({ ends }: Pick<Story, 'ends'>, played: Played): readonly string[] => {
  const faults = played.violations.map(({ rule, what }) => `${rule}: ${what}`)
  const asTold = ends?.every((states, place) => states.some((state) => state === played.commands[place]?.state)) ?? true
  return asTold ? faults : [...faults, `should have ended as ${JSON.stringify(ends)}: ${JSON.stringify(played.commands)}`]
}
