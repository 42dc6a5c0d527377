/**
 * A loop that hands out work until nothing is left, and that what it hands out may call again: then the loop under way goes on, instead of one within
 * the other as deep as the work is long.
 */
export const oneAtATime = (loop: () => void): (() => void) => {
  let isUnderWay = false
  return () => {
    if (isUnderWay) return
    isUnderWay = true
    loop()
    isUnderWay = false
  }
}
