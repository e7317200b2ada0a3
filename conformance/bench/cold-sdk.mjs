// One prompt in new processes, by the TypeScript SDK.
import { Quiesce } from '../../ts-sdk/dist/index.js'

const quiesce = await Quiesce.launch()
const session = await quiesce.sessions.create({ model: 'openai-compatible/instant' })
const result = await session.run('What is the answer?')
console.log(result.finalResponse)
await quiesce.close()
