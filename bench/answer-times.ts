/** Time until an answer is read to its end, in ms. @throws Error when it is not one of success */
export const answerMs = async (url: string): Promise<number> => {
  const started = performance.now()
  const response = await fetch(url)
  const body = await response.text()
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${body.slice(0, 300)}`)
  return performance.now() - started
}

/** Asks two addresses by turns, the other one first, so that both meet the same load of the machine. @throws Error as {@link answerMs} */
export const alternately = async (
  url: string,
  otherUrl: string,
  rounds: number,
): Promise<{ readonly these: readonly number[]; readonly others: readonly number[] }> => {
  const [these, others]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    others.push(await answerMs(otherUrl))
    these.push(await answerMs(url))
  }
  return { these, others }
}
