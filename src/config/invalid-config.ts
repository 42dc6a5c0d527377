/** Exit code of a start with invalid settings (EX_CONFIG of sysexits). */
export const configExitCode = 78

/** Settings are invalid; one line a fault, each naming the variable, what was wrong and what is accepted. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig'
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}
