/** What JSON can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

/** A JSON object. A member that is undefined is left out of its text. */
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined
}

/** The value as its JSON text says: only what JSON holds, and nothing that is undefined. */
export const toJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value))
