import type { Command } from 'commander'
import type { CliContext, CliProcess } from './context.ts'

/** What a group of commands is added to, and with. */
export interface Program {
  readonly process: CliProcess
  readonly program: Command
  /** Adds a command without subcommands. */
  leaf(parent: Command, name: string, description: string, options?: { readonly isDefault?: boolean }): Command
  /** Runs an action with its context and stores what it throws. */
  act(command: Command, action: (context: CliContext) => Promise<void>): Promise<void>
}
