/** Every resource of the server as a method. Calls carry the browser's session cookie, or a token if one is given. */
import createFetch, { type Client as Fetch } from 'openapi-fetch'

import { errorOf, unreachable } from './errors.ts'
import type { components, paths } from './schema.ts'
import type { RunStatus } from './types.ts'

export interface ClientOptions {
  /** Where the server is; empty for the page's own origin. */
  baseUrl?: string
  token?: string
  fetch?: typeof fetch
  /** How long a call may take, in milliseconds: a network that is dead without a word would keep it for ever, and all that waits behind it. */
  patience?: number
}

const PATIENCE_MS = 30_000

type Bodies = components['schemas']
export type Client = ReturnType<typeof createClient>

export function createClient(options: ClientOptions = {}) {
  const http: Fetch<paths> = createFetch<paths>({
    baseUrl: options.baseUrl ?? '',
    headers: headersOf(options),
    fetch: (request) => (options.fetch ?? fetch)(request, { signal: AbortSignal.timeout(options.patience ?? PATIENCE_MS) }),
  })
  const space = (space_id: string) => ({ path: { space_id } })
  const run = (run_id: string) => ({ path: { run_id } })
  const agent = (agent_id: string) => ({ path: { agent_id } })
  const entity = (entity_id: string) => ({ path: { entity_id } })
  const message = (message_id: string) => ({ path: { message_id } })

  return {
    options,
    me: () => got(http.GET('/api/me')),
    health: () => got(http.GET('/api/health')),
    signIn: (body: { token: string } | { code: string }) => got(http.POST('/api/session', { body })),
    signOut: () => done(http.DELETE('/api/session')),
    search: (q: string, more: { spaceId?: string; limit?: number; before?: string } = {}) =>
      got(http.GET('/api/search', { params: { query: { q, ...more } } })),

    spaces: {
      list: () => got(http.GET('/api/spaces')),
      /** Every space of the gateway, for administrators: who is in it, and nothing of what is said there. */
      listAll: (query: { after?: string; limit?: number } = {}) => got(http.GET('/api/spaces/all', { params: { query } })),
      get: (id: string) => got(http.GET('/api/spaces/{space_id}', { params: space(id) })),
      create: (body: Bodies['NewSpace']) => got(http.POST('/api/spaces', { body })),
      change: (id: string, body: Bodies['SpaceChange']) =>
        got(http.PATCH('/api/spaces/{space_id}', { params: space(id), body })),
      delete: (id: string) => done(http.DELETE('/api/spaces/{space_id}', { params: space(id) })),
      add: (id: string, body: Bodies['NewMember']) =>
        got(http.POST('/api/spaces/{space_id}/members', { params: space(id), body })),
      remove: (space_id: string, entity_id: string) =>
        done(http.DELETE('/api/spaces/{space_id}/members/{entity_id}', { params: { path: { space_id, entity_id } } })),
      read: (id: string, lastMessageId: string) =>
        got(http.POST('/api/spaces/{space_id}/read', { params: space(id), body: { lastMessageId } })),
      enterPhase: (id: string, body: Bodies['NewPhase']) =>
        got(http.POST('/api/spaces/{space_id}/phase', { params: space(id), body })),
      phases: (id: string) => got(http.GET('/api/spaces/{space_id}/phases', { params: space(id) })),
    },
    messages: {
      list: (id: string, query: { limit?: number; before?: string; after?: string } = {}) =>
        got(http.GET('/api/spaces/{space_id}/messages', { params: { ...space(id), query } })),
      post: (id: string, body: Bodies['NewMessage']) =>
        got(http.POST('/api/spaces/{space_id}/messages', { params: space(id), body })),
      get: (id: string) => got(http.GET('/api/messages/{message_id}', { params: message(id) })),
      deliveries: (id: string) => got(http.GET('/api/messages/{message_id}/deliveries', { params: message(id) })),
      /** Once more for an agent that has failed over it; refused (409) unless it has. */
      retryDelivery: (message_id: string, agent_id: string) =>
        got(http.POST('/api/messages/{message_id}/deliveries/{agent_id}/retry', { params: { path: { message_id, agent_id } } })),
    },
    runs: {
      list: (query: { agentId?: string; spaceId?: string; status?: RunStatus; limit?: number; before?: string } = {}) =>
        got(http.GET('/api/runs', { params: { query } })),
      get: (id: string) => got(http.GET('/api/runs/{run_id}', { params: run(id) })),
      steps: (id: string) => got(http.GET('/api/runs/{run_id}/steps', { params: run(id) })),
      context: (id: string) => got(http.GET('/api/runs/{run_id}/context', { params: run(id) })),
      /** The first answer counts; a second one is refused (409). */
      submit: (id: string, body: Bodies['ToolResult']) =>
        got(http.POST('/api/runs/{run_id}/tool-results', { params: run(id), body })),
      cancel: (id: string) => got(http.POST('/api/runs/{run_id}/cancel', { params: run(id) })),
    },
    /** What agents ask in one's spaces at this moment. */
    toolCalls: (query: { spaceId?: string } = {}) => got(http.GET('/api/tool-calls', { params: { query } })),
    entities: {
      list: (query: { type?: 'human' | 'agent' | 'service'; after?: string; limit?: number } = {}) =>
        got(http.GET('/api/entities', { params: { query } })),
      get: (id: string) => got(http.GET('/api/entities/{entity_id}', { params: entity(id) })),
      create: (body: Bodies['NewEntity']) => got(http.POST('/api/entities', { body })),
      change: (id: string, body: Bodies['EntityChange']) =>
        got(http.PATCH('/api/entities/{entity_id}', { params: entity(id), body })),
      delete: (id: string) => done(http.DELETE('/api/entities/{entity_id}', { params: entity(id) })),
      tokens: (id: string) => got(http.GET('/api/entities/{entity_id}/tokens', { params: entity(id) })),
      createToken: (id: string, body: Bodies['NewToken']) =>
        got(http.POST('/api/entities/{entity_id}/tokens', { params: entity(id), body })),
      createSignInLink: (id: string) =>
        got(http.POST('/api/entities/{entity_id}/sign-in-links', { params: entity(id) })),
    },
    tokens: {
      revoke: (token_id: string) => done(http.DELETE('/api/tokens/{token_id}', { params: { path: { token_id } } })),
    },
    agents: {
      list: (query: { after?: string; limit?: number } = {}) => got(http.GET('/api/agents', { params: { query } })),
      get: (id: string) => got(http.GET('/api/agents/{agent_id}', { params: agent(id) })),
      create: (body: Bodies['NewAgent']) => got(http.POST('/api/agents', { body })),
      change: (id: string, body: Bodies['AgentChange']) =>
        got(http.PATCH('/api/agents/{agent_id}', { params: agent(id), body })),
      delete: (id: string) => done(http.DELETE('/api/agents/{agent_id}', { params: agent(id) })),
      /** What it would be shown if one said this now; no model is asked and nothing is kept. */
      tryOut: (id: string, body: Bodies['Try']) =>
        got(http.POST('/api/agents/{agent_id}/try', { params: agent(id), body })),
      configSchema: () => got(http.GET('/api/agents/config-schema')),
      trigger: (id: string, body: Bodies['ServiceEvent']) =>
        got(http.POST('/api/agents/{agent_id}/trigger', { params: agent(id), body })),
      inbox: (id: string) => got(http.GET('/api/agents/{agent_id}/inbox', { params: agent(id) })),
      memories: (id: string) => got(http.GET('/api/agents/{agent_id}/memories', { params: agent(id) })),
      goals: (id: string) => got(http.GET('/api/agents/{agent_id}/goals', { params: agent(id) })),
      plans: (id: string) => got(http.GET('/api/agents/{agent_id}/plans', { params: agent(id) })),
      usage: (id: string) => got(http.GET('/api/agents/{agent_id}/usage', { params: agent(id) })),
      usageByDay: (id: string, query: { days?: number } = {}) =>
        got(http.GET('/api/agents/{agent_id}/usage/days', { params: { ...agent(id), query } })),
      consciousness: (id: string, query: { limit?: number; before?: number } = {}) =>
        got(http.GET('/api/agents/{agent_id}/consciousness', { params: { ...agent(id), query } })),
    },
  }
}

export function headersOf(options: ClientOptions): Record<string, string> {
  return options.token ? { Authorization: `Bearer ${options.token}` } : {}
}

type Answer<Data> = { data?: Data; error?: unknown; response: Response }

async function answered<Data>(call: Promise<Answer<Data>>): Promise<Answer<Data>> {
  const answer = await call.catch(() => {
    throw unreachable()
  })
  if (answer.response.ok) return answer
  throw errorOf(answer.response.status, answer.error, answer.response.headers.get('Retry-After'))
}

async function got<Data>(call: Promise<Answer<Data>>): Promise<NonNullable<Data>> {
  const { data } = await answered(call)
  return data as NonNullable<Data>
}

async function done(call: Promise<Answer<unknown>>): Promise<void> {
  await answered(call)
}
