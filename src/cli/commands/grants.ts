import { describeError, Failed, Misused } from '../../api-client/errors.ts'
import { embeddedAddress, withoutPassword } from '../../embedded/address.ts'
import { addBiLogin, type BiLogin, biLoginScript, isBiLoginName, UnsuitableLogin } from '../../store/bi/bi-login.ts'
import { grant, grantsScript, isDenied } from '../../store/db/grants.ts'
import type { CliContext } from '../context.ts'
import { print, printJson } from '../output/terminal.ts'

const deniedNotes = ['run it as the owner of the tables, or have an administrator run the output of `tallyman grants --print`']

/** Options of {@link runGrants}. */
export interface GrantOptions {
  /** Only prints the SQL. */
  readonly print?: true
  /** Name of a login for BI. */
  readonly biLogin?: string
  /** Sellers to which the login is restricted. */
  readonly seller?: readonly string[]
}

/**
 * `tallyman grants`: creates the roles and grants their rights, and creates a login for BI, or prints the SQL.
 * @throws Failed when this login lacks the rights, or a role cannot be created
 */
export const runGrants = async ({ terminal, settings }: CliContext, options: GrantOptions): Promise<void> => {
  const { biLogin, seller } = options
  if (seller !== undefined && biLogin === undefined) throw new Misused('--seller restricts a login: it needs --bi-login')
  if (biLogin !== undefined && !isBiLoginName(biLogin))
    throw new Misused(
      '--bi-login is not a name for a login; accepted: up to 63 small letters, digits and _, not beginning with a digit, pg_ or tallyman',
    )
  const sellerIds = seller ?? null
  if (options.print === true) {
    const sql = `${await grantsScript()}${biLogin === undefined ? '' : `\n${biLoginScript(biLogin, sellerIds).trimEnd()}`}`
    return terminal.json ? printJson(terminal, { sql }) : print(terminal, sql)
  }
  const url = settings.sessionUrl ?? (await embeddedAddress(settings.dataDir))
  if (url === null) throw new Misused('DATABASE_URL is unset, and no Postgres runs in DATA_DIR; --print works without a database')
  const result = await orFailed('the rights could not be granted', () => grant(url))
  const login =
    biLogin === undefined
      ? null
      : await orFailed(`the login ${biLogin} was not changed`, () => addBiLogin(url, biLogin, sellerIds))
  if (terminal.json)
    printJson(terminal, login === null ? result : { ...result, login: { ...login, address: buildLoginAddress(url, login.name) } })
  else {
    for (const role of result.granted) print(terminal, `${role} has its rights`)
    if (login !== null) {
      print(terminal, describeLogin(login))
      print(terminal, `it connects to ${buildLoginAddress(url, login.name)}`)
    }
  }
  if (result.missing.length > 0) throw new Failed(`this login may not create ${result.missing.join(', ')}`, deniedNotes)
}

const parametersOfBi = ['host', 'port', 'sslmode']

/** The address of the same database for a login, without a password. */
const buildLoginAddress = (url: string, name: string): string => {
  const address = new URL(withoutPassword(url))
  address.username = name
  for (const parameter of [...address.searchParams.keys()])
    if (!parametersOfBi.includes(parameter)) address.searchParams.delete(parameter)
  return address.href
}

const describeLogin = ({ name, password, sellerIds }: BiLogin): string => {
  const sees = sellerIds === null ? 'all sellers' : sellerIds.join(', ')
  const secret = password === null ? 'its password is unchanged' : `its password, which is shown only now, is ${password}`
  return `${name} may log in and read warehouse of ${sees}; ${secret}`
}

const orFailed = async <Result>(what: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof UnsuitableLogin)
      throw new Failed(`${what}: ${error.message}`, ['use another --bi-login or --seller'], { cause: error })
    const notes = isDenied(error) ? deniedNotes : ['check DATABASE_URL, and that `tallyman migrate` has run there']
    throw new Failed(`${what}: ${describeError(error)}`, notes, { cause: error })
  }
}
