/** What happens at moments of virtual time, the earliest first; of one moment in the order in which it was added. */
export interface EventQueue<Event> {
  readonly size: number
  /** When the next one happens, in ms; infinity: none does. */
  nextAtMs(): number
  add(atMs: number, event: Event): void
  /** Takes the next one; undefined: there is none. */
  take(): Event | undefined
}

interface Entry<Event> {
  readonly atMs: number
  readonly number: number
  readonly event: Event
}

/** A queue without events: a binary heap. */
export const createEventQueue = <Event>(): EventQueue<Event> => {
  const heap: Entry<Event>[] = []
  let added = 0
  const isBefore = (a: Entry<Event>, b: Entry<Event>): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number)

  const sift = (entry: Entry<Event>): void => {
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const one = heap[left]
      if (one === undefined) break
      const other = heap[left + 1]
      const [child, at] = other !== undefined && isBefore(other, one) ? [other, left + 1] : [one, left]
      if (!isBefore(child, entry)) break
      heap[place] = child
      place = at
    }
    heap[place] = entry
  }

  return {
    get size() {
      return heap.length
    },
    nextAtMs: () => heap[0]?.atMs ?? Number.POSITIVE_INFINITY,
    add: (atMs, event) => {
      const entry = { atMs, number: added, event }
      added += 1
      let place = heap.length
      heap.push(entry)
      while (place > 0) {
        const above = (place - 1) >>> 1
        const parent = heap[above]
        if (parent === undefined || !isBefore(entry, parent)) break
        heap[place] = parent
        place = above
      }
      heap[place] = entry
    },
    take: () => {
      const [first] = heap
      const last = heap.pop()
      if (first !== undefined && last !== undefined && last !== first) sift(last)
      return first?.event
    },
  }
}
