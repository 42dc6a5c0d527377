/** One thing that was looked at. `advice` says what to do when it is not in order. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly advice?: string
}
