import type { RefreshTokens } from '../../clients/http/auth.ts'
import { vocabulary } from '../../clients/marketplace/vocabulary.ts'
import type { Config } from '../../config/config.ts'
import { embeddedAddress } from '../../embedded/address.ts'
import { createRefreshTokens } from '../../jobs/sellers/refresh-tokens.ts'
import { createLogger } from '../../observability/log.ts'
import { openDatabase } from '../../store/db/database.ts'
import type { CliContext } from '../context.ts'

/** Refresh tokens in the daemon's database. Close them. */
export interface StoredTokens {
  readonly refreshTokens: RefreshTokens
  close(): Promise<void>
}

/** What is missing to use the refresh tokens that the daemon stores. */
export type MissingForTokens = 'TOKEN_ENCRYPTION_KEY' | 'DATABASE_URL'

/**
 * Uses the refresh tokens of the daemon: under its lease, and a token that the marketplace replaces is stored for it. Connects on first use. Without the key of
 * the daemon, an outdated token could be used, which may end the access of the seller.
 */
export const openStoredTokens = async (
  { settings, terminal, signal }: CliContext,
  { tokenEncryptionKeys, preparedStatements, requestTimeoutMs }: Config,
): Promise<StoredTokens | { readonly missing: MissingForTokens }> => {
  if (tokenEncryptionKeys.length === 0) return { missing: 'TOKEN_ENCRYPTION_KEY' }
  const url = settings.sessionUrl ?? (await embeddedAddress(settings.dataDir))
  if (url === null) return { missing: 'DATABASE_URL' }
  // No statement about tokens compares terms of a marketplace.
  const database = openDatabase({ url, findVocabulary: () => vocabulary, connections: 2, prepare: preparedStatements })
  const log = createLogger({
    level: 'warn',
    format: 'json',
    destination: { write: (line) => void terminal.messages.write(line) },
  })
  return {
    refreshTokens: createRefreshTokens({ database, log, encryptionKeys: tokenEncryptionKeys, requestTimeoutMs, stop: signal }),
    close: () => database.close(),
  }
}
