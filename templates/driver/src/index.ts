export { type TemplateOptions, templateDriver } from './template-driver.ts'
