// Preloaded where a mutant of the suite runs (node --import ./patch.mjs?…): its query says which module is loaded with one place replaced.
import { register } from 'node:module'

register('./patch-hooks.mjs', import.meta.url, { data: JSON.parse(decodeURIComponent(new URL(import.meta.url).search.slice(1))) })
