import { InvalidConfig, readConfig } from '../../src/config/config.ts'

/** The faults that the settings of these variables have. */
export const configFaults = (variables: Readonly<Record<string, string>>): readonly string[] => {
  try {
    readConfig(variables, false)
  } catch (error) {
    if (error instanceof InvalidConfig) return error.faults
    throw error
  }
  return []
}
