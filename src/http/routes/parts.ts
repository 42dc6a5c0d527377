import type { ChangeFeed } from '../change-feed.ts'
import type { HttpServices } from '../services.ts'

/** Dependencies of routes. */
export interface RouteParts {
  readonly services: HttpServices
  readonly changes: ChangeFeed
  /** Aborted when the server drains. */
  readonly stopping: AbortSignal
}
