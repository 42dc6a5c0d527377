import { createHash, createHmac } from 'node:crypto'
import { z } from 'zod'
import type { AuthDetails, Form, Target } from './model.ts'

/** The answer to one delivery; no status: there was none. */
export interface Outcome {
  readonly httpStatus: number | null
  readonly error: string | null
}

/** Tokens of receivers with OAUTH, until they expire. */
export type Tokens = Map<string, { readonly value: string; readonly until: number }>

interface Sending {
  readonly form: Form
  /** Company abbreviation of the signature's headers. */
  readonly prefix: string
  readonly tokens: Tokens
  /** Sent with a wrong secret. */
  readonly forged?: boolean
  readonly signal: AbortSignal
}

const timeoutMs = 10_000
const wrong = 'forged'
const tokenAnswer = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number() })

const tokenKey = ({ authUrl, clientId }: AuthDetails & { authMethod: 'OAUTH' }): string => `${authUrl} ${clientId}`

/** Requests a token of the receiver, as the public texts describe it. Throws an `Error` if there is none. */
const requestToken = async (
  details: AuthDetails & { authMethod: 'OAUTH' },
  headers: Readonly<Record<string, string>>,
  { tokens, signal }: Sending,
): Promise<string> => {
  const known = tokens.get(tokenKey(details))
  if (known !== undefined && known.until > Date.now()) return known.value
  const { authUrl, clientId, clientSecret, authHeaderName } = details
  const answer = await fetch(authUrl, {
    method: 'POST',
    headers: {
      ...headers,
      [authHeaderName]: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
      accept: 'application/json; charset=UTF-8',
      'content-type': 'application/x-www-form-urlencoded; charset=ISO-8859-1',
    },
    body: 'grant_type=client_credentials',
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`authUrl answered ${answer.status}`)
  const { access_token: value, expires_in: seconds } = tokenAnswer.parse(JSON.parse(text))
  tokens.set(tokenKey(details), { value, until: Date.now() + seconds * 1_000 })
  return value
}

const sign = (secret: string, text: string, encoding: Form['encoding']): string =>
  createHmac('sha256', secret).update(text).digest(encoding)

/** The headers by which the receiver recognises the marketplace. */
const authenticate = async (
  { eventUrl, authDetails, headers }: Target,
  body: string,
  sending: Sending,
): Promise<Record<string, string>> => {
  const { form, prefix, forged = false } = sending
  if (authDetails === null || authDetails === undefined) return {}
  const name = authDetails.authHeaderName
  switch (authDetails.authMethod) {
    case 'BASIC_AUTH': {
      const password = forged ? wrong : authDetails.password
      const credentials = Buffer.from(`${authDetails.userName}:${password}`).toString('base64')
      return { [name]: form.basicScheme ? `Basic ${credentials}` : credentials }
    }
    case 'HMAC': {
      const secret = forged ? wrong : authDetails.clientSecret
      if (form.signature === 'body') return { [name]: sign(secret, body, form.encoding) }
      const { pathname, search } = new URL(eventUrl)
      const timestamp = String(Math.floor(Date.now() / 1_000))
      const digest = createHash('sha256').update(body).digest('hex')
      const text = `POST\n${pathname}${search}\n${timestamp}\n${digest}`
      return { [`${prefix}_SEC.TIMESTAMP`]: timestamp, [`${prefix}_SEC.SIGNATURE`]: sign(secret, text, 'base64') }
    }
    case 'OAUTH':
      return { [name]: `Bearer ${forged ? wrong : await requestToken(authDetails, headers ?? {}, sending)}` }
  }
}

/** Sends one notification, once. Never throws. */
export const sendNotification = async (target: Target, body: string, sending: Sending): Promise<Outcome> => {
  try {
    const answer = await fetch(target.eventUrl, {
      method: 'POST',
      headers: {
        ...target.headers,
        ...(await authenticate(target, body, sending)),
        'content-type': 'application/json',
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([sending.signal, AbortSignal.timeout(timeoutMs)]),
    })
    await answer.arrayBuffer()
    const { authDetails } = target
    // The token may have been refused: the next attempt requests another one.
    if (answer.status === 401 && authDetails?.authMethod === 'OAUTH') sending.tokens.delete(tokenKey(authDetails))
    return { httpStatus: answer.status, error: null }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
    return { httpStatus: null, error: `${error instanceof Error ? error.message : String(error)}${cause}` }
  }
}

/** Any 2xx: the published texts expect 200. */
export const isDelivered = ({ httpStatus }: Outcome): boolean => httpStatus !== null && httpStatus >= 200 && httpStatus < 300
