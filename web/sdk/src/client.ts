/** All API calls as methods. They use the browser's session cookie, or a token if given. */
import createFetch, { type Client as Fetch } from 'openapi-fetch'

import { backoff } from './backoff.ts'
import { read, type Range } from './download.ts'
import { errorOf, unreachable } from './errors.ts'
import type { components, paths } from './schema.ts'
import type { RunStatus, UsageBy } from './types.ts'
import { upload, type UploadOptions } from './upload.ts'

export interface ClientOptions {
  /** URL of the server; empty for the origin of the page. */
  baseUrl?: string
  token?: string
  fetch?: typeof fetch
  /** Time limit of a call. Without one, a call on a dead network would never end and block the calls behind it. */
  timeoutMs?: number
}

const TIMEOUT_MS = 30_000
const READ_ATTEMPTS = 3

type Bodies = components['schemas']
export type Client = ReturnType<typeof createClient>

export function createClient(options: ClientOptions = {}) {
  const http: Fetch<paths> = createFetch<paths>({
    baseUrl: options.baseUrl ?? '',
    headers: headersOf(options),
    fetch: (request) => send(request, options),
  })
  const space = (space_id: string) => ({ path: { space_id } })
  const run = (run_id: string) => ({ path: { run_id } })
  const agent = (agent_id: string) => ({ path: { agent_id } })
  const entity = (entity_id: string) => ({ path: { entity_id } })
  const message = (message_id: string) => ({ path: { message_id } })

  return {
    options,
    /** For administrators: the version, the database, the last backup. */
    system: () => data(http.GET('/api/system')),
    me: () => data(http.GET('/api/me')),
    /** The address of the picture with this path. */
    pictureUrl: (path: string): string => `${options.baseUrl ?? ''}${path}`,
    /** The person's choices in the app. */
    preferences: {
      get: () => data(http.GET('/api/me/preferences')),
      /** Replaces the fields that are set. */
      change: (body: Bodies['Preferences']) => data(http.PATCH('/api/me/preferences', { body })),
    },
    /** Notifications of browsers in which the app is not open. */
    push: {
      /** The key to subscribe with, and how many browsers of the person are subscribed. */
      get: () => data(http.GET('/api/me/push')),
      /** Lasts until the session ends. */
      subscribe: (body: Bodies['NewPushSubscription']) => empty(http.PUT('/api/me/push', { body })),
      unsubscribe: (endpoint: string) => empty(http.POST('/api/me/push/unsubscribe', { body: { endpoint } })),
      /** While the user looks at the app, pushes wait. Repeat it every 40 seconds. */
      setActive: (active: boolean) => data(http.PUT('/api/me/active', { body: { active } })),
    },
    health: () => data(http.GET('/api/health')),
    signIn: (body: { token: string } | { code: string }) => data(http.POST('/api/session', { body })),
    signOut: () => empty(http.DELETE('/api/session')),
    search: (q: string, more: { spaceId?: string; limit?: number; before?: string } = {}) =>
      data(http.GET('/api/search', { params: { query: { q, ...more } } })),

    spaces: {
      list: (query: { limit?: number; after?: string } = {}) => data(http.GET('/api/spaces', { params: { query } })),
      /** For administrators: all spaces with their members, without messages. */
      listAll: (query: { after?: string; limit?: number } = {}) => data(http.GET('/api/spaces/all', { params: { query } })),
      get: (id: string) => data(http.GET('/api/spaces/{space_id}', { params: space(id) })),
      create: (body: Bodies['NewSpace']) => data(http.POST('/api/spaces', { body })),
      /** The direct conversation with a person or an agent, created when it is first asked for. */
      openDirect: (entityId: string) => data(http.POST('/api/direct', { body: { entityId } })),
      change: (id: string, body: Bodies['SpaceChange']) =>
        data(http.PATCH('/api/spaces/{space_id}', { params: space(id), body })),
      delete: (id: string) => empty(http.DELETE('/api/spaces/{space_id}', { params: space(id) })),
      /** No agent works in the space until it is resumed. */
      pause: (id: string) => data(http.POST('/api/spaces/{space_id}/pause', { params: space(id) })),
      resume: (id: string) => data(http.DELETE('/api/spaces/{space_id}/pause', { params: space(id) })),
      add: (id: string, body: Bodies['NewMember']) =>
        data(http.POST('/api/spaces/{space_id}/members', { params: space(id), body })),
      remove: (space_id: string, entity_id: string) =>
        empty(http.DELETE('/api/spaces/{space_id}/members/{entity_id}', { params: { path: { space_id, entity_id } } })),
      read: (id: string, lastMessageId: string) =>
        data(http.POST('/api/spaces/{space_id}/read', { params: space(id), body: { lastMessageId } })),
      /** Tells the members that the user is writing. Call it every few seconds meanwhile. */
      type: (id: string) => empty(http.POST('/api/spaces/{space_id}/typing', { params: space(id) })),
      enterPhase: (id: string, body: Bodies['NewPhase']) =>
        data(http.POST('/api/spaces/{space_id}/phase', { params: space(id), body })),
      /** The newest pin first. */
      pins: (id: string) => data(http.GET('/api/spaces/{space_id}/pins', { params: space(id) })),
      /** What agents are shown instead of messages that left their windows. */
      summaries: (id: string, query: { limit?: number; before?: number } = {}) =>
        data(http.GET('/api/spaces/{space_id}/summaries', { params: { ...space(id), query } })),
      phases: (id: string) => data(http.GET('/api/spaces/{space_id}/phases', { params: space(id) })),
    },
    /** For administrators, in spaces that they administer. */
    invites: {
      /** The link is only in this response. By default it works once and for 7 days. */
      create: (id: string, body: Partial<Bodies['NewInvite']> = {}) =>
        data(http.POST('/api/spaces/{space_id}/invites', { params: space(id), body: body as Bodies['NewInvite'] })),
      /** Those that still work, newest first. */
      list: (id: string) => data(http.GET('/api/spaces/{space_id}/invites', { params: space(id) })),
      end: (space_id: string, invite_id: string) =>
        empty(http.DELETE('/api/spaces/{space_id}/invites/{invite_id}', { params: { path: { space_id, invite_id } } })),
    },
    messages: {
      list: (id: string, query: { limit?: number; before?: string; after?: string } = {}) =>
        data(http.GET('/api/spaces/{space_id}/messages', { params: { ...space(id), query } })),
      post: (id: string, body: Bodies['NewMessage']) =>
        data(http.POST('/api/spaces/{space_id}/messages', { params: space(id), body })),
      get: (id: string) => data(http.GET('/api/messages/{message_id}', { params: message(id) })),
      /** What caused it, the nearest cause first. */
      why: (id: string) => data(http.GET('/api/messages/{message_id}/why', { params: message(id) })),
      edit: (id: string, text: string) => data(http.PATCH('/api/messages/{message_id}', { params: message(id), body: { text } })),
      versions: (id: string) => data(http.GET('/api/messages/{message_id}/versions', { params: message(id) })),
      delete: (id: string) => data(http.DELETE('/api/messages/{message_id}', { params: message(id) })),
      /** Deletes the agent's answer and asks it again. */
      regenerate: (id: string) => data(http.POST('/api/messages/{message_id}/regenerate', { params: message(id) })),
      react: (message_id: string, emoji: string) =>
        data(http.PUT('/api/messages/{message_id}/reactions/{emoji}', { params: { path: { message_id, emoji } } })),
      unreact: (message_id: string, emoji: string) =>
        data(http.DELETE('/api/messages/{message_id}/reactions/{emoji}', { params: { path: { message_id, emoji } } })),
      pin: (id: string) => data(http.PUT('/api/messages/{message_id}/pin', { params: message(id) })),
      unpin: (id: string) => data(http.DELETE('/api/messages/{message_id}/pin', { params: message(id) })),
      deliveries: (id: string) => data(http.GET('/api/messages/{message_id}/deliveries', { params: message(id) })),
      /** Only for a failed delivery; otherwise 409. */
      retryDelivery: (message_id: string, agent_id: string) =>
        data(http.POST('/api/messages/{message_id}/deliveries/{agent_id}/retry', { params: { path: { message_id, agent_id } } })),
    },
    /** Addresses that other programs post to. */
    incomingWebhooks: {
      list: () => data(http.GET('/api/incoming-webhooks')),
      create: (body: Bodies['NewIncomingWebhook']) => data(http.POST('/api/incoming-webhooks', { body })),
      delete: (webhook_id: string) => empty(http.DELETE('/api/incoming-webhooks/{webhook_id}', { params: { path: { webhook_id } } })),
    },
    /** Posts the events of spaces to other programs. The secret is in the response of `create` only. */
    outgoingWebhooks: {
      list: () => data(http.GET('/api/outgoing-webhooks')),
      create: (body: Bodies['NewOutgoingWebhook']) => data(http.POST('/api/outgoing-webhooks', { body })),
      delete: (webhook_id: string) => empty(http.DELETE('/api/outgoing-webhooks/{webhook_id}', { params: { path: { webhook_id } } })),
      deliveries: (webhook_id: string, query: { limit?: number; before?: string } = {}) =>
        data(http.GET('/api/outgoing-webhooks/{webhook_id}/deliveries', { params: { path: { webhook_id }, query } })),
      retry: (webhook_id: string, delivery_id: string) =>
        data(http.POST('/api/outgoing-webhooks/{webhook_id}/deliveries/{delivery_id}/retry', { params: { path: { webhook_id, delivery_id } } })),
    },
    /** Questions from programs to the members of a space. */
    asks: {
      create: (body: Bodies['NewAsk']) => data(http.POST('/api/asks', { body })),
      /** With `waitSeconds` (up to 30) it returns when the ask has ended, or then. */
      get: (ask_id: string, query: { waitSeconds?: number } = {}) =>
        data(http.GET('/api/asks/{ask_id}', { params: { path: { ask_id }, query } })),
      /** The first valid answer of each member counts; a second one gets 409. */
      answer: (ask_id: string, body: Bodies['AskResult']) =>
        data(http.POST('/api/asks/{ask_id}/answers', { params: { path: { ask_id } }, body })),
    },
    files: {
      /** Attach the uploaded file to a message within a day: `messages.post(id, { text, files: [file.id] })`. */
      upload: (id: string, file: Blob, more: UploadOptions = {}) => upload(options, id, file, more),
      /** Files that the space's messages carry, newest first. `before` is the last file of the previous page. */
      list: (id: string, query: { limit?: number; before?: string } = {}) =>
        data(http.GET('/api/spaces/{space_id}/files', { params: { ...space(id), query } })),
      /** The content, or its bytes from `start` to before `end`. */
      read: (id: string, range: Range = {}) => read(options, id, range),
      /** The address of the content. */
      url: (id: string): string => `${options.baseUrl ?? ''}/api/files/${encodeURIComponent(id)}`,
    },
    /** For programs that work for an outside agent, with its token. */
    inbox: {
      take: (body: Bodies['Take'] = { max: 1, waitSeconds: 20 }) => data(http.POST('/api/inbox/take', { body })),
      /** Renews the lease of the event; 409 if it has ended. */
      renew: (delivery_id: string, lease: string) =>
        data(http.POST('/api/inbox/{delivery_id}/renew', { params: { path: { delivery_id } }, body: { lease } })),
      settle: (delivery_id: string, body: Bodies['Settlement']) =>
        data(http.POST('/api/inbox/{delivery_id}/settle', { params: { path: { delivery_id } }, body })),
    },
    runs: {
      list: (query: { agentId?: string; spaceId?: string; status?: RunStatus; limit?: number; before?: string } = {}) =>
        data(http.GET('/api/runs', { params: { query } })),
      get: (id: string) => data(http.GET('/api/runs/{run_id}', { params: run(id) })),
      steps: (id: string) => data(http.GET('/api/runs/{run_id}/steps', { params: run(id) })),
      context: (id: string) => data(http.GET('/api/runs/{run_id}/context', { params: run(id) })),
      /** Posts the answer that the agent wrote but did not send, as its message. For the person who asked. */
      postUnsent: (id: string) => data(http.POST('/api/runs/{run_id}/unsent/post', { params: run(id) })),
      /** The first answer counts; a second one gets 409. */
      submit: (id: string, body: Bodies['ToolResult']) =>
        data(http.POST('/api/runs/{run_id}/tool-results', { params: run(id), body })),
      cancel: (id: string) => data(http.POST('/api/runs/{run_id}/cancel', { params: run(id) })),
    },
    /** For admins. `replace` sets the whole list; runs that stopped because a budget was spent try again. */
    budgets: {
      list: () => data(http.GET('/api/budgets')),
      replace: (body: Bodies['NewBudgets']) => data(http.PUT('/api/budgets', { body })),
    },
    /** Usage and cost in USD of the runs that the caller may see, summed. `from` and `to` are dates or times. */
    usage: (query: { by?: UsageBy; from?: string; to?: string; spaceId?: string; causeId?: string } = {}) => data(http.GET('/api/usage', { params: { query } })),
    /** Open questions and cards in the caller's spaces, or only those that the caller can answer. */
    waits: (query: { for?: 'me'; spaceId?: string } = {}) => data(http.GET('/api/waits', { params: { query } })),
    /** For administrators: runs of the last day that failed, in any space, newest first. */
    failures: () => data(http.GET('/api/failures')),
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
      /** The middle of the picture is cut out and made small. */
      setPicture: (id: string, picture: Blob) => {
        const form = new FormData()
        form.append('file', picture)
        return data(http.PUT('/api/entities/{entity_id}/picture', { params: entity(id), body: form as never, bodySerializer: () => form }))
      },
      removePicture: (id: string) => empty(http.DELETE('/api/entities/{entity_id}/picture', { params: entity(id) })),
      tokens: (id: string) => data(http.GET('/api/entities/{entity_id}/tokens', { params: entity(id) })),
      createToken: (id: string, body: Bodies['NewToken']) =>
        data(http.POST('/api/entities/{entity_id}/tokens', { params: entity(id), body })),
      createSignInLink: (id: string) =>
        data(http.POST('/api/entities/{entity_id}/sign-in-links', { params: entity(id) })),
      /** Live tokens, browser sessions and sign-in links. */
      access: (id: string) => data(http.GET('/api/entities/{entity_id}/access', { params: entity(id) })),
      endAllAccess: (id: string, query: { keepCurrent?: boolean } = {}) =>
        empty(http.DELETE('/api/entities/{entity_id}/access', { params: { ...entity(id), query } })),
    },
    /** Administrative acts, sign-ins, tokens, approvals and exports, newest first. For owners. */
    audit: (query: { actorId?: string; action?: string; from?: string; before?: string; limit?: number } = {}) =>
      data(http.GET('/api/audit', { params: { query } })),
    /** Members who cannot add the caller to spaces. */
    blocks: {
      list: () => data(http.GET('/api/blocks')),
      add: (id: string) => empty(http.PUT('/api/blocks/{entity_id}', { params: entity(id) })),
      remove: (id: string) => empty(http.DELETE('/api/blocks/{entity_id}', { params: entity(id) })),
    },
    access: {
      end: (token_id: string) => empty(http.DELETE('/api/access/{token_id}', { params: { path: { token_id } } })),
    },
    tokens: {
      revoke: (token_id: string) => empty(http.DELETE('/api/tokens/{token_id}', { params: { path: { token_id } } })),
    },
    /** Encrypted keys, used in configs as `secret:NAME`. Their values are never returned. For owners and administrators. */
    secrets: {
      list: () => data(http.GET('/api/secrets')),
      put: (name: string, body: Bodies['NewSecret']) => data(http.PUT('/api/secrets/{name}', { params: { path: { name } }, body })),
      delete: (name: string) => empty(http.DELETE('/api/secrets/{name}', { params: { path: { name } } })),
    },
    /** Models of providers and of servers. A key that is passed is stored encrypted and never returned. For owners and administrators. */
    models: {
      list: () => data(http.GET('/api/models')),
      providers: () => data(http.GET('/api/models/providers')),
      /** Model servers at their usual ports on the server's machine. */
      find: () => data(http.POST('/api/models/find')),
      /** The models that a provider offers with this key. */
      look: (body: Bodies['ModelOffer']) => data(http.POST('/api/models/look', { body })),
      /** Asks the model to say hello. */
      test: (body: Omit<Bodies['ModelToTest'], 'ask'> & { ask?: boolean }) => data(http.POST('/api/models/test', { body: { ask: true, ...body } })),
      connect: (name: string, body: Bodies['ModelToConnect']) => data(http.PUT('/api/models/{name}', { params: { path: { name } }, body })),
      /** Without ids: all agents whose model is `demo`. */
      use: (name: string, agents?: string[]) => data(http.POST('/api/models/{name}/use', { params: { path: { name } }, body: agents ? { agents } : {} })),
      remove: (name: string) => empty(http.DELETE('/api/models/{name}', { params: { path: { name } } })),
    },
    agents: {
      list: (query: { after?: string; limit?: number } = {}) => data(http.GET('/api/agents', { params: { query } })),
      get: (id: string) => data(http.GET('/api/agents/{agent_id}', { params: agent(id) })),
      create: (body: Bodies['NewAgent']) => data(http.POST('/api/agents', { body })),
      change: (id: string, body: Bodies['AgentChange']) =>
        data(http.PATCH('/api/agents/{agent_id}', { params: agent(id), body })),
      delete: (id: string) => empty(http.DELETE('/api/agents/{agent_id}', { params: agent(id) })),
      /** The prompt that a message would lead to. Calls no model and stores nothing. */
      /** The configs that it has had, newest first. */
      versions: (id: string) => data(http.GET('/api/agents/{agent_id}/versions', { params: agent(id) })),
      tryOut: (id: string, body: Bodies['Try']) =>
        data(http.POST('/api/agents/{agent_id}/try', { params: agent(id), body })),
      pause: (id: string) => data(http.POST('/api/agents/{agent_id}/pause', { params: agent(id) })),
      resume: (id: string) => data(http.DELETE('/api/agents/{agent_id}/pause', { params: agent(id) })),
      /** All agents of the gateway. */
      pauseAll: () => data(http.POST('/api/pause')),
      resumeAll: () => data(http.DELETE('/api/pause')),
      areAllPaused: () => data(http.GET('/api/pause')),
      configSchema: () => data(http.GET('/api/agents/config-schema')),
      trigger: (id: string, body: Bodies['ServiceEvent']) =>
        data(http.POST('/api/agents/{agent_id}/trigger', { params: agent(id), body })),
      inbox: (id: string) => data(http.GET('/api/agents/{agent_id}/inbox', { params: agent(id) })),
      putMemory: (agent_id: string, key: string, value: string) =>
        data(http.PUT('/api/agents/{agent_id}/memories/{key}', { params: { path: { agent_id, key } }, body: { value } })),
      deleteMemory: (agent_id: string, key: string) =>
        empty(http.DELETE('/api/agents/{agent_id}/memories/{key}', { params: { path: { agent_id, key } } })),
      deleteGoal: (agent_id: string, goal_id: string) =>
        empty(http.DELETE('/api/agents/{agent_id}/goals/{goal_id}', { params: { path: { agent_id, goal_id } } })),
      deletePlan: (agent_id: string, plan_id: string) =>
        empty(http.DELETE('/api/agents/{agent_id}/plans/{plan_id}', { params: { path: { agent_id, plan_id } } })),
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

/** Reads are sent again if the connection breaks: browsers end requests when the network changes. */
async function send(request: Request, options: ClientOptions): Promise<Response> {
  const signal = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)
  for (let attempt = 1; ; attempt++) {
    try {
      return await (options.fetch ?? fetch)(request, { signal })
    } catch (error) {
      if (request.method !== 'GET' || signal.aborted || attempt === READ_ATTEMPTS) throw error
      await new Promise((resolve) => setTimeout(resolve, backoff(attempt - 1)))
    }
  }
}

async function data<Data>(call: Promise<Answer<Data>>): Promise<NonNullable<Data>> {
  return (await succeeded(call)).data as NonNullable<Data>
}

async function empty(call: Promise<Answer<unknown>>): Promise<void> {
  await succeeded(call)
}
