import type { ChangeFeed } from '../change-feed.ts'
import type { Guard } from '../guard.ts'
import type { KeyRing } from '../keys.ts'
import type { HttpServices } from '../services.ts'
import type { Sessions } from '../sessions.ts'

/** Dependencies of routes. */
export interface RouteParts {
  readonly services: HttpServices
  readonly changes: ChangeFeed
  readonly keys: Pick<KeyRing, 'forget'>
  readonly guard: Pick<Guard, 'holderOf' | 'visitor'>
  readonly sessions: Pick<Sessions, 'open' | 'close'>
  /** Aborted when the server drains. */
  readonly stopping: AbortSignal
}
