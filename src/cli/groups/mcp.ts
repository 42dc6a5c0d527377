import type { Command } from 'commander'
import type { CommandRegistry } from '../command-registry.ts'
import { serveMcp } from '../commands/mcp.ts'

/** Adds `tallyman mcp`. */
export const addMcp = ({ program, defineCommand, runAction }: CommandRegistry): void => {
  defineCommand(program, 'mcp', 'serves agents by the Model Context Protocol over the standard streams').action(
    (_options: object, command: Command) => runAction(command, serveMcp),
  )
}
