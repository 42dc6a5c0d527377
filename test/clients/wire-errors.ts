/**
 * Error bodies as they stand on the wire (public facts, section 6.1). These types are for whoever writes such bodies (the sandbox, tests);
 * whoever reads them must expect anything, see `readFaults` in `../marketplace/faults.ts`.
 */

/** One error of the marketplace. */
export interface WireError {
  readonly code?: string
  readonly field?: string | null
  readonly description?: string
  readonly message?: string
  readonly info?: string
  readonly severity?: 'INFO' | 'WARN' | 'ERROR' | (string & {})
  readonly category?: 'APPLICATION' | 'SYSTEM' | 'REQUEST' | 'DATA' | (string & {})
  readonly causes?: readonly unknown[]
  readonly errorIdentifiers?: Readonly<Record<string, unknown>>
}

/** Orders, returns and the gateway. */
export interface NestedErrorBody {
  readonly errors: { readonly error: readonly WireError[] }
}

/** Newer operations; with `status`, those of the fulfillment service. */
export interface FlatErrorBody {
  readonly status?: string | number
  readonly errors: readonly WireError[]
}

/** The token operation. */
export interface SingularErrorBody {
  readonly error: string | readonly WireError[]
  readonly error_description?: string
}

/** The default of the framework behind the gateway. */
export interface FrameworkErrorBody {
  readonly timestamp: string
  readonly status: number
  readonly error: string
  readonly path: string
}

/** Display advertising. */
export interface DisplayErrorBody {
  readonly code: 'failure'
  readonly details: string | readonly string[]
}

/** Any of them. */
export type WireErrorBody = NestedErrorBody | FlatErrorBody | SingularErrorBody | FrameworkErrorBody | DisplayErrorBody
