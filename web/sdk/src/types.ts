/** Names for the generated API types. */
import type { components } from './schema.ts'

type Schemas = components['schemas']

export type Agent = Schemas['AgentJson']
export type AgentUsage = Schemas['AgentUsageJson']
export type Context = Schemas['ContextJson']
export type Cycle = Schemas['CycleJson']
export type DayUsage = Schemas['DayUsageJson']
export type Delivery = Schemas['DeliveryJson']
export type Entity = Schemas['EntityJson']
export type Goal = Schemas['GoalJson']
export type Health = Schemas['HealthJson']
export type Me = Schemas['MeJson']
export type Member = Schemas['MemberJson']
export type Memory = Schemas['MemoryJson']
export type Message = Schemas['MessageJson']
export type MessageDelivery = Schemas['MessageDeliveryJson']
export type MessagePage = Schemas['MessagePageJson']
export type NewToken = Schemas['NewTokenJson']
export type PendingCall = Schemas['PendingToolCallJson']
export type Plan = Schemas['PlanJson']
export type Run = Schemas['RunJson']
export type RunStatus = Run['status']
export type Search = Schemas['SearchJson']
export type Space = Schemas['SpaceJson']
export type SpaceOutline = Schemas['SpaceOutlineJson']
export type SpaceRole = Member['role']
export type Step = Schemas['StepJson']
export type Token = Schemas['TokenJson']
export type Tool = Schemas['ToolJson']
export type PolicyRule = Schemas['PolicyRuleJson']
export type Triggers = Space['triggers']
export type Tried = Schemas['TryJson']
export type Wait = Schemas['WaitJson']

/** The part of a space that is the same for all members. */
export type SpaceFacts = Omit<
  Space,
  'role' | 'members' | 'unreadCount' | 'lastMessage' | 'lastSeenMessageId' | 'lastSeenSeq' | 'eventSeq'
>
