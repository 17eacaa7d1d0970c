import type { Entity } from '@majlis/client'

export const ROLES: Record<Entity['role'], string> = { member: 'Member', admin: 'Administrator', owner: 'Owner' }
