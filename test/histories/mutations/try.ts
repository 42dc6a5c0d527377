import { buildHistory, countSeed } from '../generator.ts'
import { play } from '../play.ts'
import { listFaults, stories } from '../stories.ts'
import { openTheatre } from '../theatre.ts'

// Plays the stories, then histories at random until one is not withstood. Prints one line of JSON for what was not: a program of its own,
// since it runs in a tree whose engine lacks a rule.
const count = Number(process.argv[2])
const atOnce = 4

const theatre = await openTheatre(atOnce)
let failed = false

const each = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
  const left = [...items]
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined && !failed; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

try {
  await each(stories, async (story) => {
    const [first] = listFaults(story, await play(theatre, story.history))
    if (first !== undefined) console.log(JSON.stringify({ story: story.name, broke: first }))
  })
  await each(
    Array.from({ length: count }, (_, index) => countSeed(1, index)),
    async (seed) => {
      const [first] = listFaults({}, await play(theatre, buildHistory(seed)))
      if (first === undefined || failed) return
      failed = true
      console.log(JSON.stringify({ seed, broke: first }))
    },
  )
} finally {
  await theatre.stop()
}
