import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

/** Longest time without a yield to the event loop. */
const sliceMs = 20
/** The clock is read after this number of items. */
const stride = 50

/** Maps items to results. Yields to the event loop, so that a large answer does not block the process. */
export const mapInTimeSlices = async <From, To>(
  items: readonly From[],
  read: (item: From) => readonly To[],
): Promise<readonly To[]> => {
  const results: To[] = []
  let sliceEndsMs = performance.now() + sliceMs
  for (const [index, item] of items.entries()) {
    results.push(...read(item))
    if (index % stride !== stride - 1 || performance.now() < sliceEndsMs) continue
    await yieldToEventLoop()
    sliceEndsMs = performance.now() + sliceMs
  }
  return results
}
