/** A line in which who came first is first. */
export interface Fifo<Item> {
  readonly length: number
  push(item: Item): void
  shift(): Item | undefined
  /** The first one stays. */
  first(): Item | undefined
}

const worthClosingUp = 1_024

/** An empty line. Taking from its front costs the same however long it is. */
export const createFifo = <Item>(): Fifo<Item> => {
  let items: Item[] = []
  let head = 0
  return {
    get length() {
      return items.length - head
    },
    push: (item) => void items.push(item),
    first: () => items[head],
    shift: () => {
      if (head === items.length) return undefined
      const item = items[head]
      head += 1
      if (head >= worthClosingUp && head * 2 >= items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
  }
}
