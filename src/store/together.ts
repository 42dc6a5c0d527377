/** Gathers questions that are asked at the same time; see {@link together}. */
export interface Gathering {
  /**
   * Somebody waits for the answer of a statement. `ask` is called once those who could ask now have asked, and answers how to let them go on; null:
   * what is to be asked was handed in before.
   */
  waits(statement: object, ask: (() => Promise<Tell>) | null): void
  /** Somebody who waited goes on, or somebody joins. */
  goesOn(): void
  /** Somebody will ask nothing more. */
  ended(): void
  /** Whether everybody waits while a question is asked: whoever asks now is part of that question. */
  isAsking(): boolean
  /** Whether a question that failed for all may be asked for each alone. */
  readonly mayAskAlone: boolean
}

/** Hands out answers. */
export type Tell = () => void

interface Question<Asked, Answer> {
  readonly asked: Asked
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * A statement that answers any number of questions at once, made into one that is asked a single question. Where several ask at the same time
 * (`sql.gathering`) one statement answers them all; elsewhere each asks for itself.
 *
 * @param all answers the questions, one answer for each in their order
 */
export const together = <Runner extends { readonly gathering?: Gathering }, Asked, Answer>(
  all: (sql: Runner, asked: readonly Asked[]) => Promise<readonly Answer[]>,
): ((sql: Runner, asked: Asked) => Promise<Answer>) => {
  const open = new WeakMap<Gathering, Question<Asked, Answer>[]>()

  const askAll = async (
    sql: Runner,
    questions: readonly Pick<Question<Asked, Answer>, 'asked'>[],
  ): Promise<readonly Answer[]> => {
    const answers = await all(
      sql,
      questions.map(({ asked }) => asked),
    )
    if (answers.length === questions.length) return answers
    throw new Error(`a statement gave ${answers.length} answers to ${questions.length} questions`)
  }
  const askAlone = async (sql: Runner, asked: Asked): Promise<Answer> => {
    for (const answer of await askAll(sql, [{ asked }])) return answer
    throw new Error('a statement gave no answer')
  }

  /** How the question of each ended; never rejects. */
  const endsOf = async (
    sql: Runner,
    gathering: Gathering,
    questions: readonly Question<Asked, Answer>[],
  ): Promise<readonly PromiseSettledResult<Answer>[]> => {
    try {
      return (await askAll(sql, questions)).map((value) => ({ status: 'fulfilled', value }))
    } catch (reason) {
      if (!gathering.mayAskAlone || questions.length === 1) return questions.map(() => ({ status: 'rejected', reason }))
      return Promise.allSettled(questions.map(({ asked }) => askAlone(sql, asked)))
    }
  }

  const ask = async (sql: Runner, gathering: Gathering, questions: readonly Question<Asked, Answer>[]): Promise<Tell> => {
    const ends = await endsOf(sql, gathering, questions)
    return () => {
      for (const [index, end] of ends.entries()) {
        gathering.goesOn()
        if (end.status === 'fulfilled') questions[index]?.resolve(end.value)
        else questions[index]?.reject(end.reason)
      }
    }
  }

  return async (sql, asked) => {
    const { gathering } = sql
    if (gathering === undefined || gathering.isAsking()) return askAlone(sql, asked)
    return new Promise<Answer>((resolve, reject) => {
      const question = { asked, resolve, reject }
      const questions = open.get(gathering)
      if (questions !== undefined) {
        questions.push(question)
        gathering.waits(open, null)
        return
      }
      const first = [question]
      open.set(gathering, first)
      gathering.waits(open, () => {
        open.delete(gathering)
        return ask(sql, gathering, first)
      })
    })
  }
}

/**
 * Asks two things at once, which takes one round trip; on a connection the first is sent first, and answered before the second is looked at. Neither is
 * waited for alone where several ask in step.
 */
export const atOnce = async <First, Second>(
  { gathering }: { readonly gathering?: Gathering },
  first: () => Promise<First>,
  second: () => Promise<Second>,
): Promise<[First, Second]> => {
  gathering?.goesOn()
  let left = 2
  const ending = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await ask()
    } finally {
      left -= 1
      // Whoever is answered last goes on for both.
      if (left > 0) gathering?.ended()
    }
  }
  const [one, other] = await Promise.allSettled([ending(first), ending(second)])
  if (one.status === 'rejected') throw one.reason
  if (other.status === 'rejected') throw other.reason
  return [one.value, other.value]
}

/**
 * Gathers what is asked outside of transactions: while a statement is under way, questions to the same one wait for the next; none waits for others
 * to come.
 */
export const createFreeGathering = (): Gathering => {
  /** Of each statement under way, what is to be asked next. */
  const next = new Map<object, (() => Promise<Tell>) | null>()

  const run = async (statement: object, first: () => Promise<Tell>): Promise<void> => {
    for (let ask: (() => Promise<Tell>) | null = first; ask !== null; ask = next.get(statement) ?? null) {
      next.set(statement, null)
      const tell = await ask()
      tell()
    }
    next.delete(statement)
  }
  return {
    waits: (statement, ask) => {
      if (ask === null) return
      if (next.has(statement)) {
        next.set(statement, ask)
        return
      }
      next.set(statement, null)
      // Whoever asks in the same turn of the event loop comes along. What is asked never rejects.
      setImmediate(() => void run(statement, ask))
    },
    goesOn: () => undefined,
    ended: () => undefined,
    isAsking: () => false,
    mayAskAlone: true,
  }
}
