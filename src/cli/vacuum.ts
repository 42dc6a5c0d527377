import { embeddedAddress } from '../embedded/address.ts'
import { type Vacuumed, vacuumBuyers } from '../store/vacuum.ts'
import type { CliContext } from './context.ts'
import { Failed, wordsOf } from './faults.ts'
import { count, print, printJson, say } from './terminal.ts'

/**
 * `tallyman vacuum`: takes what was erased out of the files of Postgres too, at DATABASE_URL or of the daemon that runs on DATA_DIR.
 * @throws Failed when there is no Postgres, or this login may not
 */
export const runVacuum = async ({ terminal, settings }: CliContext): Promise<void> => {
  const url = settings.sessionUrl ?? (await embeddedAddress(settings.dataDir))
  if (url === null)
    throw new Failed('no Postgres runs in DATA_DIR', [
      'set DATABASE_URL, or DATA_DIR as the running daemon has it, and call it as its user',
    ])
  const { tables, denied, logEnded } = await vacuumed(url)
  if (denied.length > 0) throw new Failed(`this login does not own ${denied.join(', ')}`, ['run it as the owner of the tables'])
  if (terminal.json) printJson(terminal, { tables, logEnded })
  else print(terminal, `rewrote ${count(tables.length, 'table')}: their files hold nothing of what was erased`)
  if (!logEnded)
    say(terminal, 'this login may not end the write-ahead log: it holds what was erased until its segments are used again')
}

const vacuumed = async (url: string): Promise<Vacuumed> => {
  try {
    return await vacuumBuyers(url)
  } catch (error) {
    const notes = ['each table is waited for 20 s; run it again at a quieter moment, it starts from the beginning']
    throw new Failed(`the tables could not be rewritten: ${wordsOf(error)}`, notes, { cause: error })
  }
}
