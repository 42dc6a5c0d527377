/**
 * Reads a text column whose values a check of its table keeps to `known`.
 * @throws when it holds another one
 */
export const oneOf = <Known extends string>(known: readonly Known[], text: string): Known => {
  const found = known.find((one) => one === text)
  if (found === undefined) throw new Error(`a column holds "${text}", which is none of ${known.join(', ')}`)
  return found
}
