package tool

const keepsAttributes = true
