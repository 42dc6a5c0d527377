import { describeError, Failed } from '../../api-client/errors.ts'
import { embeddedAddress } from '../../embedded/address.ts'
import { type Vacuumed, vacuumBuyers } from '../../store/db/vacuum.ts'
import type { CliContext } from '../context.ts'
import { count, print, printJson, printMessage } from '../output/terminal.ts'

/**
 * `tallyman vacuum`: removes erased data from the files of Postgres, at DATABASE_URL or of the daemon that runs on DATA_DIR.
 * @throws Failed when there is no Postgres, or this login lacks the rights
 */
export const runVacuum = async ({ terminal, settings }: CliContext): Promise<void> => {
  const url = settings.sessionUrl ?? (await embeddedAddress(settings.dataDir))
  if (url === null)
    throw new Failed('no Postgres runs in DATA_DIR', [
      'set DATABASE_URL, or set DATA_DIR to that of the running daemon and run the command as its user',
    ])
  const { tables, denied, logEnded } = await rewriteTables(url)
  if (denied.length > 0) throw new Failed(`this login does not own ${denied.join(', ')}`, ['run it as the owner of the tables'])
  if (terminal.json) printJson(terminal, { tables, logEnded })
  else print(terminal, `rewrote ${count(tables.length, 'table')}: their files contain no erased data`)
  if (!logEnded)
    printMessage(terminal, 'this login may not switch the write-ahead log: it contains erased data until its segments are reused')
}

const rewriteTables = async (url: string): Promise<Vacuumed> => {
  try {
    return await vacuumBuyers(url)
  } catch (error) {
    const notes = [
      'the lock of each table is awaited for 20 s; run the command again when the database is less busy; it starts from the beginning',
    ]
    throw new Failed(`the tables could not be rewritten: ${describeError(error)}`, notes, { cause: error })
  }
}
