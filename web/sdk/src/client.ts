/** All API calls as methods. They use the browser's session cookie, or a token if given. */
import createFetch, { type Client as Fetch } from 'openapi-fetch'

import { errorOf, unreachable } from './errors.ts'
import type { components, paths } from './schema.ts'
import type { RunStatus } from './types.ts'

export interface ClientOptions {
  /** URL of the server; empty for the origin of the page. */
  baseUrl?: string
  token?: string
  fetch?: typeof fetch
  /** Time limit of a call. Without one, a call on a dead network would never end and block the calls behind it. */
  timeoutMs?: number
}

const TIMEOUT_MS = 30_000

type Bodies = components['schemas']
export type Client = ReturnType<typeof createClient>

export function createClient(options: ClientOptions = {}) {
  const http: Fetch<paths> = createFetch<paths>({
    baseUrl: options.baseUrl ?? '',
    headers: headersOf(options),
    fetch: (request) => (options.fetch ?? fetch)(request, { signal: AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS) }),
  })
  const space = (space_id: string) => ({ path: { space_id } })
  const run = (run_id: string) => ({ path: { run_id } })
  const agent = (agent_id: string) => ({ path: { agent_id } })
  const entity = (entity_id: string) => ({ path: { entity_id } })
  const message = (message_id: string) => ({ path: { message_id } })

  return {
    options,
    me: () => data(http.GET('/api/me')),
    health: () => data(http.GET('/api/health')),
    signIn: (body: { token: string } | { code: string }) => data(http.POST('/api/session', { body })),
    signOut: () => empty(http.DELETE('/api/session')),
    search: (q: string, more: { spaceId?: string; limit?: number; before?: string } = {}) =>
      data(http.GET('/api/search', { params: { query: { q, ...more } } })),

    spaces: {
      list: () => data(http.GET('/api/spaces')),
      /** For administrators: all spaces with their members, without messages. */
      listAll: (query: { after?: string; limit?: number } = {}) => data(http.GET('/api/spaces/all', { params: { query } })),
      get: (id: string) => data(http.GET('/api/spaces/{space_id}', { params: space(id) })),
      create: (body: Bodies['NewSpace']) => data(http.POST('/api/spaces', { body })),
      change: (id: string, body: Bodies['SpaceChange']) =>
        data(http.PATCH('/api/spaces/{space_id}', { params: space(id), body })),
      delete: (id: string) => empty(http.DELETE('/api/spaces/{space_id}', { params: space(id) })),
      add: (id: string, body: Bodies['NewMember']) =>
        data(http.POST('/api/spaces/{space_id}/members', { params: space(id), body })),
      remove: (space_id: string, entity_id: string) =>
        empty(http.DELETE('/api/spaces/{space_id}/members/{entity_id}', { params: { path: { space_id, entity_id } } })),
      read: (id: string, lastMessageId: string) =>
        data(http.POST('/api/spaces/{space_id}/read', { params: space(id), body: { lastMessageId } })),
      enterPhase: (id: string, body: Bodies['NewPhase']) =>
        data(http.POST('/api/spaces/{space_id}/phase', { params: space(id), body })),
      phases: (id: string) => data(http.GET('/api/spaces/{space_id}/phases', { params: space(id) })),
    },
    messages: {
      list: (id: string, query: { limit?: number; before?: string; after?: string } = {}) =>
        data(http.GET('/api/spaces/{space_id}/messages', { params: { ...space(id), query } })),
      post: (id: string, body: Bodies['NewMessage']) =>
        data(http.POST('/api/spaces/{space_id}/messages', { params: space(id), body })),
      get: (id: string) => data(http.GET('/api/messages/{message_id}', { params: message(id) })),
      deliveries: (id: string) => data(http.GET('/api/messages/{message_id}/deliveries', { params: message(id) })),
      /** Only for a failed delivery; otherwise 409. */
      retryDelivery: (message_id: string, agent_id: string) =>
        data(http.POST('/api/messages/{message_id}/deliveries/{agent_id}/retry', { params: { path: { message_id, agent_id } } })),
    },
    runs: {
      list: (query: { agentId?: string; spaceId?: string; status?: RunStatus; limit?: number; before?: string } = {}) =>
        data(http.GET('/api/runs', { params: { query } })),
      get: (id: string) => data(http.GET('/api/runs/{run_id}', { params: run(id) })),
      steps: (id: string) => data(http.GET('/api/runs/{run_id}/steps', { params: run(id) })),
      context: (id: string) => data(http.GET('/api/runs/{run_id}/context', { params: run(id) })),
      /** The first answer counts; a second one gets 409. */
      submit: (id: string, body: Bodies['ToolResult']) =>
        data(http.POST('/api/runs/{run_id}/tool-results', { params: run(id), body })),
      cancel: (id: string) => data(http.POST('/api/runs/{run_id}/cancel', { params: run(id) })),
    },
    /** Open questions of agents in the caller's spaces. */
    toolCalls: (query: { spaceId?: string } = {}) => data(http.GET('/api/tool-calls', { params: { query } })),
    entities: {
      list: (query: { type?: 'human' | 'agent' | 'service'; after?: string; limit?: number } = {}) =>
        data(http.GET('/api/entities', { params: { query } })),
      get: (id: string) => data(http.GET('/api/entities/{entity_id}', { params: entity(id) })),
      create: (body: Bodies['NewEntity']) => data(http.POST('/api/entities', { body })),
      change: (id: string, body: Bodies['EntityChange']) =>
        data(http.PATCH('/api/entities/{entity_id}', { params: entity(id), body })),
      delete: (id: string) => empty(http.DELETE('/api/entities/{entity_id}', { params: entity(id) })),
      tokens: (id: string) => data(http.GET('/api/entities/{entity_id}/tokens', { params: entity(id) })),
      createToken: (id: string, body: Bodies['NewToken']) =>
        data(http.POST('/api/entities/{entity_id}/tokens', { params: entity(id), body })),
      createSignInLink: (id: string) =>
        data(http.POST('/api/entities/{entity_id}/sign-in-links', { params: entity(id) })),
    },
    tokens: {
      revoke: (token_id: string) => empty(http.DELETE('/api/tokens/{token_id}', { params: { path: { token_id } } })),
    },
    agents: {
      list: (query: { after?: string; limit?: number } = {}) => data(http.GET('/api/agents', { params: { query } })),
      get: (id: string) => data(http.GET('/api/agents/{agent_id}', { params: agent(id) })),
      create: (body: Bodies['NewAgent']) => data(http.POST('/api/agents', { body })),
      change: (id: string, body: Bodies['AgentChange']) =>
        data(http.PATCH('/api/agents/{agent_id}', { params: agent(id), body })),
      delete: (id: string) => empty(http.DELETE('/api/agents/{agent_id}', { params: agent(id) })),
      /** The prompt that a message would lead to. Calls no model and stores nothing. */
      tryOut: (id: string, body: Bodies['Try']) =>
        data(http.POST('/api/agents/{agent_id}/try', { params: agent(id), body })),
      configSchema: () => data(http.GET('/api/agents/config-schema')),
      trigger: (id: string, body: Bodies['ServiceEvent']) =>
        data(http.POST('/api/agents/{agent_id}/trigger', { params: agent(id), body })),
      inbox: (id: string) => data(http.GET('/api/agents/{agent_id}/inbox', { params: agent(id) })),
      memories: (id: string) => data(http.GET('/api/agents/{agent_id}/memories', { params: agent(id) })),
      goals: (id: string) => data(http.GET('/api/agents/{agent_id}/goals', { params: agent(id) })),
      plans: (id: string) => data(http.GET('/api/agents/{agent_id}/plans', { params: agent(id) })),
      usage: (id: string) => data(http.GET('/api/agents/{agent_id}/usage', { params: agent(id) })),
      usageByDay: (id: string, query: { days?: number } = {}) =>
        data(http.GET('/api/agents/{agent_id}/usage/days', { params: { ...agent(id), query } })),
      consciousness: (id: string, query: { limit?: number; before?: number } = {}) =>
        data(http.GET('/api/agents/{agent_id}/consciousness', { params: { ...agent(id), query } })),
    },
  }
}

export function headersOf(options: ClientOptions): Record<string, string> {
  return options.token ? { Authorization: `Bearer ${options.token}` } : {}
}

type Answer<Data> = { data?: Data; error?: unknown; response: Response }

async function succeeded<Data>(call: Promise<Answer<Data>>): Promise<Answer<Data>> {
  const answer = await call.catch(() => {
    throw unreachable()
  })
  if (answer.response.ok) return answer
  throw errorOf(answer.response.status, answer.error, answer.response.headers.get('Retry-After'))
}

async function data<Data>(call: Promise<Answer<Data>>): Promise<NonNullable<Data>> {
  return (await succeeded(call)).data as NonNullable<Data>
}

async function empty(call: Promise<Answer<unknown>>): Promise<void> {
  await succeeded(call)
}
