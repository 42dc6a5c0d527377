/**
 * Parses a text column that a CHECK restricts to the `known` values.
 * @throws if it has another value
 */
export const parseEnumColumn = <Known extends string>(known: readonly Known[], text: string): Known => {
  const found = known.find((one) => one === text)
  if (found === undefined) throw new Error(`a column holds "${text}", which is none of ${known.join(', ')}`)
  return found
}
