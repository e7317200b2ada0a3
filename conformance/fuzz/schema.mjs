// Owns the protocol's schema as the fuzzer reads it: names of methods, validators that know nothing of the project's own code.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Ajv from 'ajv/dist/2020.js'

const path = fileURLToPath(new URL('../../schema/protocol.schema.json', import.meta.url))

/** The schema document. */
export const schema = JSON.parse(readFileSync(path, 'utf8'))
export const methodNames = Object.keys(schema['x-methods'])
export const notificationNames = Object.keys(schema['x-notifications'])
/** Code, whether to try again, and the class of each SDK, by code. */
export const errorCodes = schema['x-errors']

const nameOf = (reference) => reference.slice('#/$defs/'.length)

/** The name of a method's params or result in `$defs`, or of a notification's params. */
export const paramsOf = (method) => nameOf(schema['x-methods'][method].params.$ref)
export const resultOf = (method) => nameOf(schema['x-methods'][method].result.$ref)
export const noticeOf = (notification) => nameOf(schema['x-notifications'][notification].params.$ref)

/** The definition that a schema refers to, or the schema itself. */
export function resolved(definition) {
  let found = definition
  while (found.$ref !== undefined) found = schema.$defs[nameOf(found.$ref)]
  return found
}

const ajv = new Ajv({ strict: false, validateFormats: false })
ajv.addSchema({ $id: 'protocol', $defs: schema.$defs })
const validators = new Map()

/**
 * Whether a value fits a type of the schema.
 * @param {string} name in `$defs`
 * @returns {boolean}
 */
export function fits(name, value) {
  let validator = validators.get(name)
  if (validator === undefined) {
    validator = ajv.compile({ $ref: `protocol#/$defs/${name}` })
    validators.set(name, validator)
  }
  return validator(value)
}

const factNames = new Map(
  schema.$defs.Fact.anyOf.flatMap(({ $ref }) => ($ref === undefined ? [] : [[resolved({ $ref }).properties.type.const, nameOf($ref)]])),
)
/** The names of the facts that are known. */
export const knownFacts = [...factNames.values()]

/** The same as `fits('Fact', value)`, but looks at the one kind alone. */
export function isFact(value) {
  const type = typeof value === 'object' && value !== null && Object.hasOwn(value, 'type') ? value.type : undefined
  return fits(factNames.get(type) ?? 'Fact', value)
}

/** Where and why it doesn't, for a message. */
export function misfits(name, value) {
  return fits(name, value) ? '' : ajv.errorsText(validators.get(name).errors?.slice(0, 3))
}
