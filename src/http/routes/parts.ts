import type { Guard } from '../auth/guard.ts'
import type { KeyRing } from '../auth/keys.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { ChangeFeed } from '../change-feed.ts'
import type { HttpServices } from '../services.ts'

/** Dependencies of routes. */
export interface RouteParts {
  readonly services: HttpServices
  readonly changes: ChangeFeed
  readonly keys: Pick<KeyRing, 'invalidate'>
  readonly guard: Pick<Guard, 'checkKey' | 'identify'>
  readonly sessions: Pick<Sessions, 'open' | 'close'>
  /** Aborted when the server drains. */
  readonly stopping: AbortSignal
}
