/** Result of one check. `advice` states what to do if it is not ok. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly advice?: string
}
